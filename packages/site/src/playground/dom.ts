// Creates elements. Text is always text: nothing here parses HTML.

type Child = Node | string | false | undefined
type Value = string | number | boolean | undefined | ((event: never) => void)

/**
 * Creates an element. A function is a listener of the event that its name says, `true` an attribute
 * without a value; `false` and undefined are left out.
 */
export function el<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  props: Readonly<Record<string, Value>> = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag)
  for (const [name, value] of Object.entries(props)) {
    if (typeof value === 'function') element.addEventListener(name, value as EventListener)
    else if (value !== undefined && value !== false) element.setAttribute(name, value === true ? '' : String(value))
  }
  element.append(...children.filter((child) => child !== undefined && child !== false))
  return element
}

/** A link to another page. It is not loaded before the user follows it: this page makes no requests. */
export function link(href: string, text: string): HTMLAnchorElement {
  return el('a', { href, 'data-astro-prefetch': 'false', rel: 'noreferrer noopener' }, text)
}

/** Writes text only if it is another one, so that a screen reader does not repeat it. */
export function setText(element: Element, text: string): void {
  if (element.textContent !== text) element.textContent = text
}

export function count(number: number, one: string, many: string = `${one}s`): string {
  return `${number.toLocaleString('en')} ${number === 1 ? one : many}`
}
