// What the playground uses. Not public: it may change in any version.

export { type DocumentUrls, documentUrls } from './parse/document-urls.ts'
