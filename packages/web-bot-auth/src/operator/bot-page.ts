// The page about a crawler: its name, what it uses pages for, how to recognise and how to block it.
import type { Identity } from './identity.ts'

const STYLE =
  'body{font:1.05rem/1.6 system-ui,sans-serif;max-width:44rem;margin:2rem auto;padding:0 1rem;color-scheme:light dark}pre{padding:.8rem;border:1px solid;overflow:auto}'

/** Returns an HTML page (draft-illyes-webbotauth-cbcp-01 says what it must have in it). */
export function botPage(identity: Identity): string {
  const { name, productToken, userAgent, contact, purposes, about, renders, ranges, rangesUrl } = identity
  const { hostNames, directory, card } = identity
  const [title, token] = [escaped(name), escaped(productToken)]
  const link = (url: string, text = url) => `<a href="${escaped(url)}">${escaped(text)}</a>`
  const mail = contact.includes('://') ? link(contact) : link(`mailto:${contact}`, contact)
  const signs = [
    `<li>The header <code>User-Agent: ${escaped(userAgent)}</code>. Anyone can send it, so it proves nothing alone.</li>`,
    ...(ranges.length > 0
      ? [`<li>The IP addresses: ${link(rangesUrl)} has all ranges, in the form that Google uses.</li>`]
      : []),
    ...(hostNames.length > 0
      ? [
          `<li>DNS: the name of the address ends in ${hostNames.map((host) => `<code>.${escaped(host)}</code>`).join(' or ')}, and the name leads back to the address.</li>`,
        ]
      : []),
    ...(directory === undefined
      ? []
      : [
          `<li>A signature (Web Bot Auth). The public keys are at ${link(directory)}, and ${link(card)} describes the crawler for machines.</li>`,
        ]),
  ]
  const head = ranges.length > 0 ? `\n<link rel="client-ranges" href="${escaped(rangesUrl)}">` : ''
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${title}</title>${head}
<style>${STYLE}</style>
<h1>${title}</h1>
<p>${title} visits web pages. ${about === undefined ? '' : `${escaped(about)} `}It ${renders ? 'runs' : 'does not run'} the scripts of a page.</p>
<h2>What the pages are used for</h2>
<ul>
${purposes.map((purpose) => `<li>${escaped(purpose)}</li>`).join('\n')}
</ul>
<h2>How to recognise it</h2>
<ul>
${signs.join('\n')}
</ul>
<h2>How to block it</h2>
<p>It obeys robots.txt (RFC 9309). It looks for the name <code>${token}</code> there. To keep it out of a whole site:</p>
<pre>${escaped(exampleRobots(productToken, '/'))}</pre>
<p>To keep it out of a part:</p>
<pre>${escaped(exampleRobots(productToken, '/private/'))}</pre>
<p>To see what your file says to it: <code>npx politely check https://example.com/page --user-agent ${token}</code></p>
<h2>Contact</h2>
<p>${mail}</p>
</html>
`
}

/** Returns a robots.txt that keeps the crawler out of a path. */
function exampleRobots(productToken: string, path: string): string {
  return `User-agent: ${productToken}\nDisallow: ${path}\n`
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}
