import { OAuthError } from './oauth-error.ts'

/** The parameters of a request. Only `resource` may occur several times. */
export class Form {
  readonly #params: URLSearchParams

  constructor(params: URLSearchParams) {
    const names = [...params.keys()].filter((name) => name !== 'resource')
    const seen = new Set<string>()
    const twice = names.find((name) => seen.size === seen.add(name).size)
    if (twice !== undefined)
      throw new OAuthError('invalid_request', `a parameter occurs twice: ${twice.slice(0, 64)}; send it once`)
    this.#params = params
  }

  /** The value of a parameter; undefined if it is missing or empty. */
  get(name: string): string | undefined {
    return this.#params.get(name) || undefined
  }

  /** The value of a parameter. Throws if it is missing. */
  need(name: string): string {
    const value = this.get(name)
    if (value === undefined) throw new OAuthError('invalid_request', `the parameter ${name} is missing`)
    return value
  }

  get resources(): readonly string[] {
    return this.#params.getAll('resource').filter((value) => value !== '')
  }

  /** The scopes, each once; undefined if none are asked for. */
  get scopes(): readonly string[] | undefined {
    const text = this.get('scope')
    if (text === undefined) return undefined
    if (!/^[\x21\x23-\x5b\x5d-\x7e]+( [\x21\x23-\x5b\x5d-\x7e]+)*$/.test(text))
      throw new OAuthError('invalid_scope', 'scope must be a list of scopes with one space between them')
    return [...new Set(text.split(' '))]
  }
}
