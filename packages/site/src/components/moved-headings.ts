// Opens the new place of a heading, or of a page, that has moved. See MovedHeadings.astro.

const template = document.querySelector<HTMLTemplateElement>('#moved-headings')
const moved: Readonly<Record<string, string>> = JSON.parse(template?.dataset.moved ?? '{}')

function openNewPlace(): void {
  const place = moved[location.hash.slice(1)] ?? moved['']
  if (place !== undefined) location.replace(place)
}

openNewPlace()
addEventListener('hashchange', openNewPlace)
