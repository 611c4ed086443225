/** How an operator joins values; the columns are those of RFC 6570, appendix A. */
export interface Operator {
  readonly symbol: string
  readonly first: string
  readonly separator: string
  readonly named: boolean
  readonly ifEmpty: string
  readonly keepReserved: boolean
}

/** A variable with its modifier. */
export interface Variable {
  readonly name: string
  readonly explode: boolean
  /** How many code points of the value are used. */
  readonly prefix: number | undefined
}

/** What stands between two braces. */
export interface Expression {
  readonly operator: Operator
  readonly variables: readonly Variable[]
}

/** Literal text, already encoded as it appears in a URI, or an expression. */
export type Part = string | Expression

/** Every operator by its symbol. */
// oxfmt-ignore
export const OPERATORS: ReadonlyMap<string, Operator> = new Map([
  { symbol: '',  first: '',  separator: ',', named: false, ifEmpty: '',  keepReserved: false },
  { symbol: '+', first: '',  separator: ',', named: false, ifEmpty: '',  keepReserved: true },
  { symbol: '#', first: '#', separator: ',', named: false, ifEmpty: '',  keepReserved: true },
  { symbol: '.', first: '.', separator: '.', named: false, ifEmpty: '',  keepReserved: false },
  { symbol: '/', first: '/', separator: '/', named: false, ifEmpty: '',  keepReserved: false },
  { symbol: ';', first: ';', separator: ';', named: true,  ifEmpty: '',  keepReserved: false },
  { symbol: '?', first: '?', separator: '&', named: true,  ifEmpty: '=', keepReserved: false },
  { symbol: '&', first: '&', separator: '&', named: true,  ifEmpty: '=', keepReserved: false },
].map((row) => [row.symbol, row]))
