// The sections of a Markdown page.

export interface Section {
  readonly title: string
  /** The anchor that GitHub makes of the title. */
  readonly anchor: string
  /** The heading and what follows it, up to the next heading of any level. */
  readonly text: string
}

/** Returns the sections of a page. The first one has the title of the page. */
export function sectionsOf(markdown: string): Section[] {
  const [, ...sections] = `\n${markdown}`.split(/^(?=#+ )/m)
  return sections.map((text) => {
    const [, title = ''] = /^#+ (.*)/.exec(text) ?? []
    const anchor = title
      .toLowerCase()
      .replace(/[^\p{L}\p{N}_ -]/gu, '')
      .replaceAll(' ', '-')
    return { title, anchor, text }
  })
}
