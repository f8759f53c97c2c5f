// Recognises a challenge for browsers by the page that its product sends. What counts is a script
// that begins as this product's does, or an element that only its challenge has. Words never count:
// an article about challenges has them too, and many sites have a captcha in a form of an ordinary
// page. Scripts that such products add to ordinary pages don't count either.
import { shownHtml, withoutComments, withoutTags } from '../access/html-text.ts'

const MARKS: readonly RegExp[] = [
  /<script[^<>]*>\s*(?:\(function\s*\(\)\s*\{\s*)?window\._cf_chl_opt\s*=/i, // Cloudflare
  /<form[^<>]+__cf_chl_/i, // Cloudflare, before 2024
  /<script[^<>]*>\s*(?:window\.awsWafCookieDomainList\s*=[^;<>]{0,500};\s*)?window\.gokuProps\s*=/i, // AWS WAF
  /<script[^<>]*>\s*var dd\s*=\s*\{\s*['"](?:rt|cid)['"]\s*:/i, // DataDome
  /<div[^<>]+\bid\s*=\s*["']?px-captcha\b/i, // HUMAN, formerly PerimeterX
  /<iframe[^<>]+\/_Incapsula_Resource\?/i, // Imperva
  /<div[^<>]+\bid\s*=\s*["']?sec-if-cpt-container\b/i, // Akamai
  /<script[^<>]+\/_sec\/cp_challenge\//i, // Akamai
  /<meta[^<>]+[?&]bm-verify=/i, // Akamai
  /<script[^<>]+\bid\s*=\s*["']?anubis_challenge\b/i, // Anubis
  /<script[^<>]*>\s*var s\s*=\s*\{\},[^<>]{0,200}sucuri_cloudproxy_js\s*=/i, // Sucuri
  /<script[^<>]+\/\.well-known\/ddos-guard\/js-challenge\//i, // DDoS-Guard
]
/** A word of each mark, and of `isBareScript`. Most pages have none of them. */
const WORD =
  /_cf_chl_|gokuProps|var dd\s*=|px-captcha|_Incapsula_Resource|sec-if-cpt-|\/cp_challenge\/|bm-verify=|anubis_challenge|sucuri_cloudproxy_js|\/ddos-guard\//i

/** The challenges that are sent as JSON to a client that does not ask for HTML. */
const JSON_MARKS: readonly RegExp[] = [
  /^\s*\{\s*"url"\s*:\s*"https:\/\/[\w.-]+\.captcha-delivery\.com\//, // DataDome
  /^\s*\{\s*"appId"\s*:\s*"PX\w+"/, // HUMAN
  /^\s*\{\s*"sec-cp-challenge"\s*:\s*"true"/, // Akamai
]

/** Returns whether a JSON document, or the start of one, is a challenge for browsers. */
export function isChallengeJson(json: string): boolean {
  return JSON_MARKS.some((mark) => mark.test(json))
}

/** Returns whether a page, or the start of one, is a challenge for browsers. */
export function isChallengePage(html: string): boolean {
  if (!WORD.test(html)) return false // before the comments are removed, which takes longer
  const bare = withoutComments(html)
  return MARKS.some((mark) => mark.test(bare)) || isBareScript(bare)
}

/**
 * Returns whether a whole page has a script of Imperva and no text. Imperva adds this script to
 * ordinary pages too.
 */
function isBareScript(html: string): boolean {
  if (!/<script[^<>]+\/_Incapsula_Resource\?/i.test(html) || !/<\/(?:body|html)\b/i.test(html)) return false
  return withoutTags(shownHtml(html)).trim() === ''
}
