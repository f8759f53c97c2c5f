// Marks an element whose content is wider than itself, at the sides where it is cut: the style sheet fades
// these sides.

/** Keeps the attribute `data-cut` of an element: `start`, `end`, both, or none. */
export function watchCut(scroller: HTMLElement): void {
  const mark = () => {
    const { scrollLeft, clientWidth, scrollWidth } = scroller
    const sides = [scrollLeft > 1 && 'start', scrollLeft + clientWidth < scrollWidth - 1 && 'end'].filter(Boolean)
    scroller.dataset.cut = sides.join(' ')
  }
  const observer = new ResizeObserver(mark)
  observer.observe(scroller)
  for (const child of scroller.children) observer.observe(child)
  scroller.addEventListener('scroll', mark, { passive: true })
}
