// The headings of a Markdown page, and the sections that they begin.

export interface Section {
  readonly title: string
  /** The anchor that GitHub makes of the title. */
  readonly anchor: string
  /** From the heading to the next heading of any level. */
  readonly text: string
}

/** Returns the sections of a page. The first one has the title of the page. */
export function sectionsOf(markdown: string): Section[] {
  return Array.from(markdown.matchAll(/^#+ (.*)$[^]*?(?=^#+ |(?![^]))/gm), ([text, title = '']) => ({
    title,
    anchor: title
      .toLowerCase()
      .replace(/[^\p{L}\p{N}_ -]/gu, '')
      .replaceAll(' ', '-'),
    text,
  }))
}
