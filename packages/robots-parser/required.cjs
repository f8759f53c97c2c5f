// `require` returns the function itself, as for robots-parser. This also works in bundles.
module.exports = require('./dist/index.js').default
