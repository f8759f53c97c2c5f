// URLs with a password, in many spellings. The tests of each package check that none of its
// messages contains the password.

/** The password, or a part of it. */
export const SECRET = 'xyzzy'

/** Returns URLs that a client requests from this host and port. */
export function secretUrls(host: string): readonly string[] {
  return [
    `http://u:${SECRET}@${host}/page`,
    `HTTP://u:${SECRET}@${host}/page`,
    `http:u:${SECRET}@${host}/page`,
    `http:\\\\u:${SECRET}@${host}\\page`,
    `\0ht\ttp:/\n/u:\t${SECRET}@${host}/page`,
    ` \n http://u:${SECRET}@${host}/page`,
    `http://u u: ${SECRET} @${host}/page`,
    `http://u:x@${SECRET}@${host}/page`,
    `http://u:x%40${SECRET}%40@${host}/page`,
    `http://${SECRET}@${host}/@page`,
    `http://u:${SECRET.repeat(100)}@${host}/page`,
    `http://u:${SECRET}@${host}/page#${'@'.repeat(200)}`,
  ]
}

/** Returns texts that the client does not request: they are invalid, or their path is too long. */
export function invalidSecretUrls(host: string): readonly string[] {
  return [
    `u:${SECRET}@${host}/page`,
    `u:${SECRET}/@${host}/page`,
    `u:${SECRET}%40${host}/page`,
    `${SECRET}@${host}/page`,
    `//u:${SECRET}@${host}/page`,
    `\\\\u:${SECRET}@${host}/page`,
    `/\t/u:${SECRET}@${host}/page`,
    `\u3000//u:${SECRET}@${host}/page`,
    `http://u:${SECRET}/@${host}/page`,
    `http://u:${SECRET}\\@${host}/page`,
    `http://u:${SECRET}?@${host}/page`,
    `http://u:${SECRET}#@${host}/page`,
    `http://u:x/${SECRET}@x/y@${host}/page`,
    `http://u:${SECRET}%40${host}/page`,
    `HTTP://u:${SECRET}@/page`,
    `http://u:${SECRET}@[${host}/page`,
    `http://u:${SECRET}@${host}x/page`,
    `http://u:${SECRET.repeat(100)}/@${host}/page`,
    `http://u:${SECRET}@${host}/${'a'.repeat(70_000)}`,
    `see http://u:${SECRET}@${host}/page`,
    `<http://u:${SECRET}@${host}/page>`,
    `(http://u:${SECRET}@${host}/page)`,
    `ws:u:${SECRET}@${host}/page`,
    `redis://u:${SECRET}@${host}/0`,
    `redis://u:1\\${SECRET}@${host}/0`,
    `blob:http://u:${SECRET}@${host}/page`,
    `mailto:u:${SECRET}@${host}`,
    `data:${SECRET}@${host}/page`,
  ]
}
