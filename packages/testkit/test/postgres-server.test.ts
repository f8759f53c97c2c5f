// @module-tag full
import { existsSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { noPgBouncer, noPostgresServer, startPostgres } from '../src/servers/postgres.ts'

describe.skipIf(noPostgresServer())('a PostgreSQL server of a test', () => {
  it('keeps its data over both kinds of restart, and unlogged rows over a fast one only', async () => {
    await using server = await startPostgres()
    await server.psql(
      'CREATE UNLOGGED TABLE u (x int); CREATE TABLE l (x int); INSERT INTO u VALUES (1); INSERT INTO l VALUES (1)',
    )
    const counts = () => server.psql('SELECT (SELECT count(*) FROM l), (SELECT count(*) FROM u)')
    const { pid } = server
    await server.restart('fast')
    expect(server.pid).not.toBe(pid)
    expect(await counts()).toBe('1|1')
    await server.restart('immediate')
    expect(await counts()).toBe('1|0')
  })

  it('has a replica that can be promoted', async () => {
    await using server = await startPostgres()
    await server.psql('CREATE TABLE l (x int); INSERT INTO l VALUES (1)')
    const replica = await server.replica()
    await expect(replica.psql('INSERT INTO l VALUES (2)')).rejects.toThrow('read-only')
    await server.stop('immediate')
    await replica.promote()
    await replica.psql('INSERT INTO l VALUES (2)')
    expect(await replica.psql('SELECT x FROM l')).toBe('1\n2')
  })

  it.skipIf(noPgBouncer())('has a PgBouncer in front, and deletes its folder', async () => {
    let folder = ''
    {
      await using server = await startPostgres()
      const bouncer = await server.bouncer()
      expect(await server.program('psql', ['-A', '-t', '-c', 'SELECT 7', bouncer.url])).toBe('7\n')
      folder = await server.psql('SHOW data_directory')
      expect(existsSync(folder)).toBe(true)
    }
    expect(existsSync(folder)).toBe(false)
  })
})
