// Lets a visitor of the start page edit the file and the first path, and answers at once.

import type { PlaygroundState } from '@politely/playground/state'
import { CRAWLERS, PATHS, trialOf } from './trial.ts'

/** The start page needs no more, and a paste stays quick. Characters. */
const MAX_LENGTH = 20_000

const trial = document.querySelector<HTMLElement>('#trial')
const file = trial?.querySelector('textarea')
const path = trial?.querySelector('input')
const more = trial?.querySelector('a')

if (trial && file && path && more) {
  const cells = Array.from(trial.querySelectorAll('tbody tr'), (row) => [...row.querySelectorAll('td')])
  const sentence = trial.querySelector('output')
  const paths = () => [path.value, ...PATHS.slice(1)]
  const show = () => {
    const answer = trialOf(file.value, paths())
    answer.rows.forEach((row, at) => {
      row.forEach((cell, column) => {
        const node = cells[at]?.[column]
        if (node === undefined) return
        node.className = cell.answer
        const [verdict, because] = node.children
        if (verdict && because) {
          const word = document.createElement('b')
          word.textContent = cell.answer
          verdict.replaceChildren(`${cell.sign} `, word)
          because.textContent = cell.because
        }
      })
    })
    if (sentence) sentence.textContent = answer.sentence
  }
  for (const field of [file, path]) {
    field.readOnly = false
    field.maxLength = MAX_LENGTH
    field.addEventListener('input', show)
  }
  more.addEventListener('click', async (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return
    event.preventDefault()
    const { linkHash } = await import('@politely/playground/link')
    const state: PlaygroundState = {
      robots: file.value,
      before: undefined,
      urls: paths(),
      crawlers: CRAWLERS,
      dialect: 'rfc9309',
      page: undefined,
      open: { url: 0, crawler: 0 },
    }
    location.href = more.href + (await linkHash(state))
  })
  show() // a browser keeps what was typed when the page is opened again
}
