// Made from packages/core/data/crawlers.json by scripts/catalogue.mjs: change the JSON and run `npm run update`.
// biome-ignore-all format: one table on one line

/** Documented names with a dot, a space or a digit, which a product token cannot have. In lower case. */
export const documentedNames: ReadonlySet<string> = new Set(['360spider', 'ai2bot', 'ai2bot-dolma', 'archive.org_bot', 'img2dataset', 'mail.ru_bot', 'megaindex.ru', 'mj12bot', 'panscient.com', 'peer39_crawler', 'pingdom.com_bot', 'screaming frog seo spider', 'sistrix crawler', 'site24x7', 'sogou web spider'])

/** Product tokens that files shorten to what follows or precedes the name of the operator, by that part. */
export const shortenedTokens: Readonly<Record<string, string>> = { storebot: 'Storebot-Google', inspectiontool: 'Google-InspectionTool', cloudvertexbot: 'Google-CloudVertexBot', mediapartners: 'Mediapartners-Google', feedfetcher: 'FeedFetcher-Google', notebooklm: 'Google-NotebookLM', externalagent: 'meta-externalagent', webindexer: 'meta-webindexer', externalfetcher: 'meta-externalfetcher', externalads: 'meta-externalads', qbusiness: 'amazon-QBusiness', autorag: 'Cloudflare-AutoRAG' }
