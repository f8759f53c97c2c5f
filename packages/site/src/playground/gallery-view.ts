// The gallery of mistakes: each is a link that opens it.
import { gallery, mistakeHash } from '@politely/playground/gallery'
import { el } from './dom.ts'

export function galleryElement(): HTMLElement {
  return el(
    'details',
    { class: 'pg-gallery', id: 'pg-gallery' },
    el('summary', {}, el('h2', {}, `${gallery.length} real mistakes to learn from`)),
    el(
      'ul',
      {},
      ...gallery.map((mistake) =>
        el('li', {}, el('a', { href: mistakeHash(mistake) }, mistake.title), el('p', {}, mistake.text)),
      ),
    ),
  )
}
