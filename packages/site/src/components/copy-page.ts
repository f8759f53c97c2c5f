// Copies the Markdown of a page to the clipboard.

const button = document.querySelector<HTMLButtonElement>('[data-copy-page]')
const copied = button?.nextElementSibling

button?.addEventListener('click', async () => {
  const say = (text: string) => copied?.replaceChildren(text)
  const address = button.dataset.copyPage ?? ''
  try {
    await write(fetchText(address))
    say('Copied.')
  } catch {
    const link = document.createElement('a')
    link.href = address
    link.textContent = 'Open the Markdown instead'
    copied?.replaceChildren('The browser does not allow copying. ', link)
  }
})

/** Safari allows writing only directly after a click, so it gets a promise of the text. */
async function write(text: Promise<string>): Promise<void> {
  const blob = text.then((value) => new Blob([value], { type: 'text/plain' }))
  await navigator.clipboard.write([new ClipboardItem({ 'text/plain': blob })])
}

async function fetchText(address: string): Promise<string> {
  const response = await fetch(address)
  if (!response.ok) throw new Error(`status ${response.status}`)
  return response.text()
}
