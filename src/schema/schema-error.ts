/** An unusable schema: `problem` says what is wrong, `fix` what to do about it. */
export class SchemaError extends Error {
  readonly problem: string
  readonly fix: string
  /** JSON Pointer to the place in the schema, as a fragment; `#` is the whole. */
  readonly pointer: string

  constructor(problem: string, fix: string, pointer = '#', options?: ErrorOptions) {
    super(`the schema${pointer === '#' ? '' : ` at ${pointer}`} ${problem}. ${fix}`, options)
    this.problem = problem
    this.fix = fix
    this.pointer = pointer
  }

  override get name(): string {
    return 'SchemaError'
  }
}
