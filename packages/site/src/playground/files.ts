// Files that the user opens, drops or pastes. They are read here and sent nowhere.
import { MAX_INTAKE_BYTES, readStream } from '@politely/playground/read-stream'
import { el } from './dom.ts'

export interface ReadFile {
  readonly name: string
  readonly text: string
  /** A remark about the file for the user; may be empty. */
  readonly note: string
}

/** Reads a file, decompressed if its name ends in `.gz`, up to a limit. */
export async function readFile(file: File): Promise<ReadFile> {
  const isGzip = /\.gz$/i.test(file.name)
  const name = file.name.replace(/\.gz$/i, '')
  try {
    const stream = isGzip ? file.stream().pipeThrough(new DecompressionStream('gzip')) : file.stream()
    const { bytes, isCut } = await readStream(stream, MAX_INTAKE_BYTES)
    const isUtf16 = (bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff)
    const encoding = isUtf16 ? (bytes[0] === 0xff ? 'utf-16le' : 'utf-16be') : 'utf-8'
    const text = new TextDecoder(encoding, { ignoreBOM: !isUtf16 }).decode(bytes)
    const notes = [
      ...(isCut ? [`Only the first ${MAX_INTAKE_BYTES / 2 ** 20} MiB were read.`] : []),
      ...(isUtf16 ? ['The file is UTF-16, which crawlers cannot read; save it as UTF-8.'] : []),
    ]
    return { name, text, note: notes.join(' ') }
  } catch {
    return { name, text: '', note: `${file.name} could not be read${isGzip ? ': it is not a whole gzip file' : ''}.` }
  }
}

/** A button that opens a file. */
export function fileButton(title: string, onFile: (file: File) => void): HTMLElement {
  const input = el('input', {
    type: 'file',
    hidden: true,
    change: () => {
      const [file] = input.files ?? []
      if (file) onFile(file)
      input.value = ''
    },
  })
  return el('span', {}, el('button', { type: 'button', click: () => input.click() }, title), input)
}

/**
 * Takes files and texts that are dropped on an element.
 * @param onFile Called with the first file, and the number of files.
 */
export function acceptDrops(
  element: HTMLElement,
  onFile: (file: File, target: EventTarget | null, files: number) => void,
  onText: (text: string) => void,
): void {
  element.addEventListener('dragover', (event) => {
    event.preventDefault()
    element.classList.add('pg-dropping')
  })
  element.addEventListener('dragleave', ({ relatedTarget }) => {
    if (!(relatedTarget instanceof Node && element.contains(relatedTarget))) element.classList.remove('pg-dropping')
  })
  const onDrop = (event: DragEvent) => {
    element.classList.remove('pg-dropping')
    const { dataTransfer } = event
    const [file] = dataTransfer?.files ?? []
    const text = dataTransfer?.getData('text/plain') ?? ''
    if (file === undefined && text === '') return
    event.preventDefault()
    event.stopPropagation() // the editor would insert it, too
    if (file !== undefined) onFile(file, event.target, dataTransfer?.files.length ?? 1)
    else onText(text)
  }
  element.addEventListener('drop', onDrop, { capture: true })
}
