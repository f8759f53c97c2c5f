// Recognises login pages by their URL and by their form.
//
// A password field alone says little: forums have one at the top of each page. So the title or the
// URL must say that the page is for logging in, or the page must have hardly any other text.
import { shownHtml, titleOf, withoutTags } from '../access/html-text.ts'

/** The last segment of the path of a login page, without an extension. */
const LOGIN_SEGMENT =
  /^(?:(?:user|member|customer|account|admin|wp|sso|saml|cas|oauth|auth|special:(?:user)?)?[-_]?(?:log[-_]?[io]n|sign[-_]?[io]n)(?:[-_]?(?:page|form|user))?|servicelogin|sso|authenticate|anmelden|connexion|inloggen|iniciar-sesion|acceder|accedi)$/

/** An end of a path that says nothing, after the name of the page. */
const PATH_END = /(?:\/(?:index\.\w+)?)?(?:;[^/]*)?$/

/** Login paths of Cloudflare Access and of Rails, whose last segment has another name. */
const LOGIN_PATH = /^\/cdn-cgi\/access\/login\/|\/sessions?\/new$/

/** The first label of a host that only logs users in. */
const LOGIN_HOST = /^(?:log[-_]?in|signin|sso|auth|accounts?|idp)\./

/** A parameter that says where to return to after the login. */
const RETURN_PARAMETER =
  /[?&](?:return[-_]?(?:to|url|uri|path)?|redirect[-_]?(?:to|url|uri)?|next|continue|service|goto|back[-_]?(?:to|url)?|dest(?:ination)?|relaystate)=/i

/** The parameters of a request for a login by SAML, and by OpenID Connect. */
const LOGIN_PROTOCOLS: readonly (readonly RegExp[])[] = [[/[?&]SAMLRequest=/], [/[?&]response_type=/, /[?&]client_id=/]]

/** A longer URL is not searched. */
const MAX_URL_LENGTH = 8192

/** Returns whether a URL is that of a login page. */
export function isLoginUrl({ href, hostname }: { readonly href: string; readonly hostname: string }): boolean {
  if (href.length > MAX_URL_LENGTH) return false
  const [, beforeQuery = '', query = ''] = /^[^:]*:\/\/[^/?#]*([^?#]*)(.*)/s.exec(href) ?? []
  const path = decoded(beforeQuery).toLowerCase().replace(PATH_END, '')
  const title = decoded(/[?&]title=([^&#]*)/.exec(query)?.[1] ?? '').toLowerCase() // MediaWiki
  if (LOGIN_PATH.test(path) || [path, title].some((name) => LOGIN_SEGMENT.test(lastSegment(name)))) return true
  if (LOGIN_PROTOCOLS.some((parameters) => parameters.every((parameter) => parameter.test(query)))) return true
  return LOGIN_HOST.test(hostname) && RETURN_PARAMETER.test(query)
}

function lastSegment(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1).replace(/\.(?:php|html?|aspx?|jsp|jsf|do|cgi|action)$/, '')
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

const PASSWORD_FIELD = /<input\b[^<>]*[\s"'/]type\s*=\s*["']?password\b/i
const LINK = /<a\s/gi
const LOGIN_TITLE =
  /\b(?:log|sign)[ -]?[io]n\b|anmeld(?:en|ung)\b|einloggen|connexion|se connecter|iniciar sesi[oó]n|iniciar sess[aã]o|\baccedi\b|inloggen|zaloguj|logowanie|logga in|log ind|logg inn|přihlášení|giriş yap|войти|вход|авторизация|ログイン|登[录入陆錄]|로그인/i

/** A page with more text or links is not only a login page. Our choice. */
const MAX_TEXT_LENGTH = 600
const MAX_LINKS = 15
/** A start of a page that is shorter is taken for the whole page. Our choice. */
const MIN_HEAD_LENGTH = 1024

/**
 * Returns whether a page, or the start of one, is a login page.
 * @param isAtLoginUrl Called only for a page with a password field.
 */
export function isLoginPage(html: string, isAtLoginUrl: () => boolean): boolean {
  if (!PASSWORD_FIELD.test(html)) return false // most pages end here
  const shown = shownHtml(html)
  if (!PASSWORD_FIELD.test(shown)) return false
  if (isAtLoginUrl() || LOGIN_TITLE.test(titleOf(shown))) return true
  const isWhole = html.length < MIN_HEAD_LENGTH || /<\/(?:body|html)\b/i.test(shown)
  if (!isWhole || (shown.match(LINK)?.length ?? 0) > MAX_LINKS) return false
  return withoutTags(shown).replace(/\s+/g, ' ').length <= MAX_TEXT_LENGTH
}
