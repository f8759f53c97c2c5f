// The buffers that are used for one file and one question after another. This object is the only state that core shares between files: a
// file is compiled, and a question answered, before the next one begins.
import { ByteBuffer, type ByteRange, FilePool, type Source } from '../bytes.ts'
import type { ParsingRules } from '../dialect.ts'
import { GroupSelection } from '../parse/group-selection.ts'
import { LineReader } from '../parse/line-reader.ts'
import { parse } from '../parse/parser.ts'
import { RequestPath } from '../url/request-path.ts'
import { OriginBytes } from '../url/url-fast-path.ts'
import { type CompiledRules, RuleCompiler } from './compile.ts'
import { IndexBuffers } from './indexed.ts'
import { LinearMatcher } from './linear.ts'

class Workspace {
  /** Copies of the callers' files. */
  readonly files: FilePool = new FilePool()
  /** The file that is parsed, if it is a text. */
  readonly #text = new ByteBuffer()
  readonly #reader = new LineReader()
  readonly compiler: RuleCompiler = new RuleCompiler()
  /** The path that is asked about. */
  readonly path: RequestPath = new RequestPath()
  /** The origin that the last question was about. */
  readonly origin: OriginBytes = new OriginBytes()
  readonly indexBuffers: IndexBuffers = new IndexBuffers()
  readonly linear: LinearMatcher = new LinearMatcher()
  /** Whose rules `linear` holds. */
  #loaded: object | undefined
  readonly #unpacked = new ByteBuffer()
  #selection: GroupSelection | undefined
  #selectionToken = ''
  #selectionRules: ParsingRules | undefined

  /** The linear engine, filled with the rules of `owner`. */
  linearFor(owner: object, packed: string, groupsAt: number, count: number, takesFirst: boolean): LinearMatcher {
    if (this.#loaded !== owner) {
      this.#unpacked.release()
      this.#unpacked.fillLatin1(packed)
      this.linear.load(this.#unpacked.bytes, groupsAt, count, takesFirst)
      this.#loaded = owner
    }
    return this.linear
  }

  /** The bytes of a file; those of a text are overwritten by the next one. */
  rangeOf(source: Source): ByteRange {
    if (typeof source !== 'string') return source
    this.#text.release()
    return this.#text.fillText(source)
  }

  /** Compiles what a file says to a crawler. */
  compile(source: Source, productTokens: readonly string[], rules: ParsingRules): CompiledRules {
    this.#loaded = undefined // its bytes may be the compiler's
    const file = this.rangeOf(source)
    this.compiler.begin(file.bytes, this.selectionFor(productTokens, rules), rules)
    parse(this.#reader.open(file, rules.keys), rules, this.compiler)
    this.#reader.close()
    return this.compiler.finish()
  }

  /** Fills the linear engine with what was compiled last. */
  load(owner: object, { bytes, groupsAt, count }: CompiledRules, takesFirst: boolean): void {
    this.linear.load(bytes, groupsAt, count, takesFirst)
    this.#loaded = owner
  }

  /** Most crawlers ask about very many files under one name, so the last one is kept. */
  selectionFor(productTokens: readonly string[], rules: ParsingRules): GroupSelection {
    const [token = ''] = productTokens
    if (productTokens.length !== 1) return new GroupSelection(productTokens, rules)
    if (this.#selection === undefined || this.#selectionToken !== token || this.#selectionRules !== rules) {
      this.#selection = new GroupSelection(productTokens, rules)
      this.#selectionToken = token
      this.#selectionRules = rules
    }
    return this.#selection
  }
}

export const workspace: Workspace = new Workspace()
