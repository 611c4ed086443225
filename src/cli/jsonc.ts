import { endOfText } from './json-text.ts'

/** A value in a text of JSON with comments, and where it is. */
export interface JsoncNode {
  readonly start: number
  readonly end: number
  /** The members, if it is an object. */
  readonly members?: readonly JsoncMember[]
  /** The items, if it is a list. */
  readonly items?: readonly JsoncNode[]
  /** The value as `JSON.parse` would return it. */
  readonly value: unknown
}

interface JsoncMember {
  readonly name: string
  readonly start: number
  readonly node: JsoncNode
  /** Where the comma that follows it ends; undefined if none follows. */
  readonly commaEnd: number | undefined
}

/** What is wrong with a text, and where. Lines and columns count from 1. */
export class JsoncError extends Error {
  readonly line: number
  readonly column: number

  constructor(text: string, at: number, problem: string) {
    const before = text.slice(0, at).split('\n')
    const [line, column] = [before.length, (before.at(-1) ?? '').length + 1]
    super(`line ${line}, column ${column}: ${problem}`)
    this.line = line
    this.column = column
  }
}

const DEEPEST = 100

/** Parses JSON with the comments and trailing commas that editors allow. Throws a `JsoncError`. */
export function parseJsonc(text: string): JsoncNode {
  return new Parser(text).parse()
}

class Parser {
  readonly #text: string
  #at: number

  constructor(text: string) {
    this.#text = text
    this.#at = text.startsWith('\uFEFF') ? 1 : 0
  }

  parse(): JsoncNode {
    this.#skip()
    const node = this.#value(0)
    this.#skip()
    if (this.#at < this.#text.length) throw this.#error('there is more after the end of the value')
    return node
  }

  #error(problem: string, at: number = this.#at): JsoncError {
    return new JsoncError(this.#text, at, problem)
  }

  /** Skips white space and comments. */
  #skip(): void {
    for (;;) {
      const space = /[\s\uFEFF]*/y
      space.lastIndex = this.#at
      space.test(this.#text)
      this.#at = space.lastIndex
      const two = this.#text.slice(this.#at, this.#at + 2)
      if (two !== '//' && two !== '/*') return
      const end = this.#text.indexOf(two === '//' ? '\n' : '*/', this.#at + 2)
      if (end < 0 && two === '/*') throw this.#error('a comment has no end')
      this.#at = end < 0 ? this.#text.length : end + (two === '//' ? 1 : 2)
    }
  }

  #value(depth: number): JsoncNode {
    if (depth > DEEPEST) throw this.#error('it is nested too deeply')
    const char = this.#text[this.#at]
    if (char === '{') return this.#object(depth)
    if (char === '[') return this.#array(depth)
    if (char === undefined) throw this.#error('it ends too early')
    return this.#plain(char)
  }

  #plain(char: string): JsoncNode {
    const start = this.#at
    const found = this.#text.slice(start, char === '"' ? endOfText(this.#text, start) : this.#endOfWord())
    try {
      const value: unknown = JSON.parse(found)
      this.#at = start + found.length
      return { start, end: this.#at, value }
    } catch {
      if (char !== '"')
        throw this.#error('expected a value: a text in "", a number, true, false, null, [ or {')
      throw this.#error('a text is not complete: it needs " at its end, and \\ before special characters')
    }
  }

  #endOfWord(): number {
    const word = /[^\s,:{}[\]"/]*/y
    word.lastIndex = this.#at
    word.test(this.#text)
    return word.lastIndex
  }

  #object(depth: number): JsoncNode {
    const start = this.#at++
    const members: JsoncMember[] = []
    this.#skip()
    while (this.#text[this.#at] !== '}') {
      const at = this.#at
      if (this.#text[at] !== '"')
        throw this.#error(this.#at < this.#text.length ? 'expected a name in "" or }' : '} is missing')
      const name = this.#plain('"').value as string
      this.#skip()
      if (this.#text[this.#at] !== ':') throw this.#error('expected : after the name')
      this.#at++
      this.#skip()
      const node = this.#value(depth + 1)
      const commaEnd = this.#comma('}')
      members.push({ name, start: at, node, commaEnd })
    }
    this.#at++
    const value = Object.fromEntries(members.map(({ name, node }) => [name, node.value]))
    return { start, end: this.#at, members, value }
  }

  #array(depth: number): JsoncNode {
    const start = this.#at++
    const items: JsoncNode[] = []
    this.#skip()
    while (this.#text[this.#at] !== ']') {
      items.push(this.#value(depth + 1))
      this.#comma(']')
    }
    this.#at++
    return { start, end: this.#at, items, value: items.map(({ value }) => value) }
  }

  /** Reads a comma and returns where it ends, or finds the end of the list. */
  #comma(end: string): number | undefined {
    const after = this.#at
    this.#skip()
    const char = this.#text[this.#at]
    if (char === ',') {
      const commaEnd = ++this.#at
      this.#skip()
      return commaEnd
    }
    if (char !== end) throw this.#error(`expected , or ${end}`, char === undefined ? this.#at : after)
    return undefined
  }
}
