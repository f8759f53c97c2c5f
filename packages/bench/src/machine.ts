import { availableParallelism, cpus } from 'node:os'

/** The properties of a machine that figures depend on. They do not identify its owner. */
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

/** Returns the part of a record's file name that describes the machine. */
export function fileNamePartOf({ processor, cores, node }: Machine): string {
  return `${processor} ${cores} cores node ${node}`
    .toLowerCase()
    .replace(/[^a-z0-9.]+/g, '-')
    .replace(/^-|-$/g, '')
}
