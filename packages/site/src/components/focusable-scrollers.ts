// Lets the keyboard reach examples and tables that are wider than the window, and shows where they are cut.
// Expressive Code does the former for its examples too, later, and makes each of them a landmark without a name.
import { watchCut } from './cut.ts'

const observer = new ResizeObserver((entries) => {
  for (const { target } of entries) {
    if (target.scrollWidth > target.clientWidth) target.setAttribute('tabindex', '0')
    else target.removeAttribute('tabindex')
  }
})
for (const scroller of document.querySelectorAll<HTMLElement>('.sl-markdown-content :is(pre, .table)')) {
  observer.observe(scroller)
  watchCut(scroller)
}
