// The matchers in other languages. Their checkouts come from the command line. The reader of a
// matcher (languages.ts) is compiled in a temporary folder, from its source in this folder and from
// the checkout. That takes g++ and pkg-config with abseil, cargo, or go.
import { execFileSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

interface Peer {
  readonly name: string
  /** Compiles the reader from a checkout, in an empty folder, and returns the path of the program. */
  compile(checkout: string, folder: string): string
}

export type PeerOption = 'google' | 'texting-robots' | 'temoto'

/** The folder of the checkout of each peer; undefined for a peer that does not take part. */
export type Checkouts = Readonly<Partial<Record<PeerOption, string | undefined>>>

const peers: Readonly<Record<PeerOption, Peer>> = {
  google: {
    name: 'google/robotstxt, C++',
    compile(checkout, folder) {
      const program = join(folder, 'reader')
      const abseil = run('pkg-config', ['--cflags', '--libs', 'absl_strings', 'absl_fixed_array']).split(/\s+/)
      const sources = [join(import.meta.dirname, 'google.cc'), join(checkout, 'robots.cc'), '-I', checkout]
      run('g++', ['-O3', '-DNDEBUG', '-std=c++17', '-o', program, ...sources, ...abseil])
      return program
    },
  },
  'texting-robots': {
    name: 'texting_robots, Rust',
    compile(checkout, folder) {
      const manifest = join(folder, 'Cargo.toml')
      const source = join(import.meta.dirname, 'texting-robots.rs')
      writeFileSync(
        manifest,
        `[package]\nname = "reader"\nversion = "0.0.0"\nedition = "2021"\n\n[[bin]]\nname = "reader"\npath = '${source}'

[dependencies]\ntexting_robots = { path = '${checkout}' }\n\n[profile.release]\nlto = true\ncodegen-units = 1\n`,
      )
      run('cargo', ['build', '--release', '--quiet', '--manifest-path', manifest], checkout) // reads the checkout's configuration
      return join(folder, 'target/release/reader')
    },
  },
  temoto: {
    name: 'temoto/robotstxt, Go',
    compile(checkout, folder) {
      const module = 'github.com/temoto/robotstxt'
      copyFileSync(join(import.meta.dirname, 'temoto.go'), join(folder, 'main.go'))
      writeFileSync(
        join(folder, 'go.mod'),
        `module reader\n\ngo 1.17\n\nrequire ${module} v0.0.0\n\nreplace ${module} => ${checkout}\n`,
      )
      run('go', ['build', '-mod=mod', '-o', 'reader', '.'], folder)
      return join(folder, 'reader')
    },
  },
}

export const PEER_OPTIONS = Object.keys(peers) as readonly PeerOption[]

/**
 * Compiles the reader of a peer in `folder`. Returns its path and a name with the commit, or the
 * reason why the peer is skipped.
 *
 * @throws if the compiler fails.
 */
export function compiledReader(
  option: PeerOption,
  checkout: string | undefined,
  parent: string,
): { readonly name: string; readonly path: string } | { readonly skipped: string } {
  const { name, compile } = peers[option]
  if (checkout === undefined) return { skipped: `${name} is skipped: no --${option} FOLDER` }
  if (!existsSync(checkout)) return { skipped: `${name} is skipped: no folder ${checkout}` }
  const folder = join(parent, option)
  mkdirSync(folder)
  try {
    const commit = run('git', ['-C', checkout, 'rev-parse', '--short=8', 'HEAD'])
    return { name: `${name}, ${commit}`, path: compile(resolve(checkout), folder) }
  } catch (error) {
    const { code, path } = error as NodeJS.ErrnoException
    if (code !== 'ENOENT') throw error
    return { skipped: `${name} is skipped: no ${path} on this machine` }
  }
}

/** Runs a program and returns what it writes. */
function run(program: string, args: readonly string[], cwd?: string): string {
  return execFileSync(program, args, { cwd, encoding: 'utf8', stdio: 'pipe' }).trim()
}
