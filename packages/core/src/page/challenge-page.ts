// Recognises a challenge for browsers by the page that its product sends. What counts is a script
// that begins as this product's does, or an element that only its challenge has. Words never count:
// an article about challenges has them too, and many sites have a captcha in a form of an ordinary
// page. Scripts that such products add to ordinary pages don't count either.
import { withoutComments } from '../access/html-text.ts'

const MARKS: readonly RegExp[] = [
  /<script[^<>]*>\s*(?:\(function\s*\(\)\s*\{\s*)?window\._cf_chl_opt\s*=/i, // Cloudflare
  /<form[^<>]+__cf_chl_/i, // Cloudflare, before 2024
  /<script[^<>]*>\s*(?:window\.awsWafCookieDomainList\s*=[^;<>]{0,500};\s*)?window\.gokuProps\s*=/i, // AWS WAF
  /<script[^<>]*>\s*var dd\s*=\s*\{\s*['"]rt['"]\s*:/i, // DataDome
  /<div[^<>]+\bid\s*=\s*["']?px-captcha\b/i, // HUMAN, formerly PerimeterX
  /<iframe[^<>]+\/_Incapsula_Resource\?/i, // Imperva
  /<div[^<>]+\bid\s*=\s*["']?sec-if-cpt-container\b/i, // Akamai
  /<script[^<>]+\/_sec\/cp_challenge\//i, // Akamai
  /<meta[^<>]+[?&]bm-verify=/i, // Akamai
  /<script[^<>]+\bid\s*=\s*["']?anubis_challenge\b/i, // Anubis
]

/** Returns whether a page, or the start of one, is a challenge for browsers. */
export function isChallengePage(html: string): boolean {
  const bare = withoutComments(html)
  return MARKS.some((mark) => mark.test(bare))
}
