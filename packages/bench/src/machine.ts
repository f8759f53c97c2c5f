import { availableParallelism, cpus } from 'node:os'

/** What a figure depends on, and nothing that says whose machine it is. */
export interface Machine {
  readonly processor: string
  readonly cores: number
  readonly node: string
  readonly system: string
}

export function thisMachine(): Machine {
  const processor = (cpus()[0]?.model ?? 'unknown')
    .replace(/\((?:R|TM)\)/g, '')
    .replace(/\s+/g, ' ')
    .trim()
  const { version, platform, arch } = process
  return { processor, cores: availableParallelism(), node: version.slice(1), system: `${platform} ${arch}` }
}

/** For the name of a file. */
export function slugOf({ processor, cores, node }: Machine): string {
  return `${processor} ${cores} cores node ${node}`
    .toLowerCase()
    .replace(/[^a-z0-9.]+/g, '-')
    .replace(/^-|-$/g, '')
}
