// What the playground and the command use. Not public: it may change in any version.

export { describeResult } from './file-result.ts'
export { type DocumentUrls, documentUrls } from './parse/document-urls.ts'
