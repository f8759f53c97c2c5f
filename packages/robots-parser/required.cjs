// What `require` gives: the function itself, as robots-parser does. In Node and in what bundlers make of both files.
module.exports = require('./dist/index.js').default
