// A server of another program for tests. It ends with the process that started it.
import { type ChildProcess, spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'

export interface Supervised {
  /** The process id of the server. */
  readonly pid: number
  /** Ends the server with a signal, and waits for its end. */
  end(options: { readonly signal?: string; readonly keepFolder: boolean }): Promise<void>
}

export interface SupervisedOptions {
  /** Belongs to the server alone. Its output goes to `server.log` there. */
  readonly folder: string
  readonly command: readonly string[]
  readonly env: Readonly<Record<string, string>>
  /** The signal that ends the server if this process ends first. Default: KILL. */
  readonly signal?: string
}

/**
 * Runs a server, and ends it when a line or the end of the input arrives. The input ends with the
 * process that holds its other end, whatever ends that process: signals of a terminal that closes
 * do not end this shell first. A line names a signal. The folder remains if it also says `keep`.
 */
const SUPERVISOR = `
default=$1
shift
"$@" >"$0/server.log" 2>&1 &
echo $!
trap '' HUP INT TERM
exec >&-
read -r signal keep
kill -"\${signal:-$default}" $! 2>/dev/null
wait
[ "$keep" ] || rm -rf "$0"
`

export async function supervise({ folder, command, env, signal = 'KILL' }: SupervisedOptions): Promise<Supervised> {
  const child = spawn('sh', ['-c', SUPERVISOR, folder, signal, ...command], {
    env: { ...process.env, ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const exited = once(child, 'exit')
  exited.catch(() => undefined)
  const pid = Number(await firstLine(child))
  // A test that forgets the server must not keep its process alive; the supervisor then ends the
  // server.
  child.unref()
  for (const stream of [child.stdin, child.stdout]) (stream as unknown as { unref?(): void }).unref?.()
  return {
    pid,
    end: async ({ signal: given = signal, keepFolder }) => {
      if (child.exitCode !== null || child.signalCode !== null) return
      child.ref()
      child.stdin?.end(`${given} ${keepFolder ? 'keep' : ''}\n`)
      await exited
    },
  }
}

/**
 * Ports below the range that the system gives to clients, so that the port stays free during a
 * restart.
 */
const [MIN_PORT, MAX_PORT] = [20_000, 32_000]
const MAX_PORT_ATTEMPTS = 10

/**
 * Starts a server on a free port. Tries another port if the error says that an address is in use.
 */
export async function onFreePort<T>(start: (port: number) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await start(randomInt(MIN_PORT, MAX_PORT))
    } catch (error) {
      if (attempt === MAX_PORT_ATTEMPTS || !String(error).includes('Address already in use')) throw error
    }
  }
}

async function firstLine({ stdout }: ChildProcess): Promise<string> {
  let text = ''
  for await (const chunk of stdout ?? []) {
    text += chunk
    if (text.includes('\n')) break
  }
  return text.trim()
}
