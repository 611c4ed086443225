import { onTestFinished } from 'vitest'
import { createSafeFetch } from '../../src/auth/client/safe-fetch.ts'
import { serve } from '../auth/serve.ts'

/** What a site has at a path: a JSON document, a text, or a status with headers. */
export type Page =
  | { readonly json: unknown }
  | { readonly text: string }
  | { readonly status: number; readonly headers?: Readonly<Record<string, string>> }

/** A web server on loopback, whose pages a test may change. */
export interface Site {
  readonly origin: string
  readonly pages: Map<string, Page>
  /** The paths of all requests so far. */
  readonly requests: string[]
}

/** Starts a site until the test is over. */
export async function startSite(pages: (origin: string) => Readonly<Record<string, Page>>): Promise<Site> {
  const requests: string[] = []
  const all = new Map<string, Page>()
  const { url, close } = await serve((request, response) => {
    requests.push(request.url ?? '')
    const page = all.get(request.url ?? '') ?? { status: 404 }
    if ('status' in page) return void response.writeHead(page.status, page.headers).end()
    const text = 'json' in page ? JSON.stringify(page.json) : page.text
    response.writeHead(200, { 'content-type': 'json' in page ? 'application/json' : 'text/html' }).end(text)
  })
  onTestFinished(close)
  for (const [path, page] of Object.entries(pages(url))) all.set(path, page)
  return { origin: url, pages: all, requests }
}

/** The fetch of a client whose server is on loopback. */
export const localFetch: typeof fetch = createSafeFetch({ server: new URL('http://127.0.0.1/mcp') })
