// A long run with the verdict, as JSON:
//
//   node packages/server/test/several-servers/main.ts redis calm:20 restart:90:30 kill:60:10 stall:30:3
//
// Each phase has a name, its seconds, and how often its disturbance happens. The servers are the
// builds, so run `npm run build` first. POLITELY_RUN_LOG names a file for all events, a line each;
// POLITELY_RUN_LEASE_MS and POLITELY_RUN_BURNERS change the options of these names.
import { writeFileSync } from 'node:fs'
import { type BackendName, type Disturbance, runServers } from './fleet.ts'
import { judge } from './verdict.ts'

const [backend = 'redis', ...given] = process.argv.slice(2)
const phases = given.map((text) => {
  const [name, seconds, every = '5'] = text.split(':')
  return { name: name as Disturbance, seconds: Number(seconds), everySeconds: Number(every) }
})
const { POLITELY_RUN_LOG, POLITELY_RUN_LEASE_MS: leaseMs = 60_000, POLITELY_RUN_BURNERS: burners } = process.env
const run = await runServers({
  backend: backend as BackendName,
  origins: 20,
  leaseMs: Number(leaseMs),
  phases,
  burners: burners === undefined ? undefined : Number(burners),
})
if (POLITELY_RUN_LOG) writeFileSync(POLITELY_RUN_LOG, run.events.map((event) => `${JSON.stringify(event)}\n`).join(''))
console.log(JSON.stringify(judge(run), undefined, 2))
