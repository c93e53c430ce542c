/** The marks in one source file. A mark is a `TODO` comment about code that a developer must finish migrating. */
import type ts from 'typescript'
import type { Compiler } from './compiler.ts'
import type { Edits } from './edits.ts'
import { formatMark, type GuideSection } from './guide.ts'
import { indentationAt, lineStart } from './lines.ts'
import { isTest } from './project-files.ts'

/** Collects the marks of a source file, and inserts them. */
export class Marks {
  readonly #ts: Compiler
  readonly #source: ts.SourceFile
  readonly #path: string
  /** The texts of the marks, by the position of the line before which they are inserted. */
  readonly #texts = new Map<number, Set<string>>()

  constructor(ts: Compiler, source: ts.SourceFile, path: string) {
    this.#ts = ts
    this.#source = source
    this.#path = path
  }

  /** Adds a mark on the line before a node. */
  add(node: ts.Node, section: GuideSection, message: string): void {
    const position = this.#lineOf(node)
    const text = formatMark(message, section)
    const isKnown = [...this.#texts.values()].some((texts) => texts.has(text))
    // Tests often repeat the same code, so one mark for each message is enough
    if (isKnown && isTest(this.#path)) return
    const texts = this.#texts.get(position) ?? new Set()
    this.#texts.set(position, texts.add(text))
  }

  /**
   * Inserts the marks. If another change replaces the code around a mark, the mark is lost, because only the
   * outermost of nested changes is applied.
   */
  insertInto(edits: Edits): void {
    for (const [position, texts] of this.#texts) {
      const indentation = indentationAt(this.#source.text, position)
      const lines = [...texts].map((text) => `${indentation}// ${text}\n`)
      edits.insertFirst(position, lines.join(''))
    }
  }

  /**
   * The start of the node's line. If the node is inside a multi-line template literal or JSX element, the start of
   * the line on which the outermost literal or element begins.
   */
  #lineOf(node: ts.Node): number {
    const { text } = this.#source
    let position = lineStart(text, node.getStart(this.#source))
    for (let outer = node.parent as ts.Node | undefined; outer; outer = outer.parent) {
      const isLiteralOrElement = this.#ts.isTemplateLiteral(outer) || this.#ts.isJsxElement(outer)
      const start = outer.getStart(this.#source)
      if (isLiteralOrElement && start < position) position = lineStart(text, start)
    }
    return position
  }
}
