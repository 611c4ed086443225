/** How an operator joins values, with the columns of RFC 6570, appendix A. */
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
  /** The number of code points of the value to use. */
  readonly prefix: number | undefined
}

/** The content of a pair of braces. */
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
