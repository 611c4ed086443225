/** A network that knows the session of the client that uses it, and can end it behind the client's back. */
export class Sessions {
  readonly #url: string
  readonly fetch: typeof fetch
  /** The session ids that the client was given. */
  readonly ids: string[] = []
  /** Whether every session is ended as soon as it was opened. */
  forgetful = false

  constructor(url: string) {
    this.#url = url
    this.fetch = async (input, init) => {
      if (this.forgetful && calls(init)) await this.forget()
      const response = await fetch(input, init)
      const id = response.headers.get('mcp-session-id')
      if (id !== null && !this.ids.includes(id)) this.ids.push(id)
      return response
    }
  }

  get opened(): number {
    return this.ids.length
  }

  /** Ends the newest session on the server. */
  async forget(): Promise<void> {
    const headers = { 'mcp-session-id': this.ids.at(-1) as string }
    await (await fetch(this.#url, { method: 'DELETE', headers })).arrayBuffer()
  }
}

function calls(init: RequestInit | undefined): boolean {
  return typeof init?.body === 'string' && init.body.includes('"method":"tools/call"')
}
