import { ToolError, type ToolMap } from 'pierhead'
import { z } from 'zod'
import { pure, wellFormed } from '../pure.ts'

const URI = z
  .string()
  .min(1)
  .max(4000)
  .meta({ examples: ['https://harbour.example:8443/berths/7?free=yes#map'] })
const PARAMETERS = z.record(z.string(), z.string())

function urlOf(text: string, base?: string): URL {
  if (!URL.canParse(text, base)) throw new ToolError(`"${text.slice(0, 100)}" is not a URI.`)
  return new URL(text, base)
}

const DATA = /^data:([\w.+-]+\/[\w.+-]+)?((?:;[\w-]+=[\w-]+)*)(;base64)?,(.*)$/s

export const uris: ToolMap = {
  uri_parse: pure(
    'Takes a URI apart.',
    { uri: URI },
    {
      scheme: z.string(),
      host: z.string(),
      port: z.string(),
      path: z.string(),
      query: z.string(),
      fragment: z.string(),
    },
    ({ uri }) => {
      const { protocol, hostname, port, pathname, search, hash } = urlOf(uri)
      return {
        scheme: protocol.slice(0, -1),
        host: hostname,
        port,
        path: pathname,
        query: search.slice(1),
        fragment: hash.slice(1),
      }
    },
  ),
  uri_build: pure(
    'Builds a URI of a host, the parts of a path and parameters, all encoded as they must be.',
    {
      scheme: z.enum(['https', 'http', 'ws', 'wss']).default('https'),
      host: z
        .string()
        .min(1)
        .max(255)
        .meta({ examples: ['harbour.example'] }),
      path: z.array(z.string().max(1000)).max(100).default([]),
      parameters: PARAMETERS.default({}),
    },
    { uri: z.string() },
    ({ scheme, host, path, parameters }) => {
      if (/[/?#@\\\s]/.test(host)) throw new ToolError('A host has no slashes, spaces or other separators.')
      const url = urlOf(`${scheme}://${host}/`)
      const query = new URLSearchParams(parameters).toString()
      const parts = path.map((part) => encodeURIComponent(wellFormed(part)))
      return { uri: `${url.origin}/${parts.join('/')}${query === '' ? '' : `?${query}`}` }
    },
  ),
  uri_resolve: pure(
    'Resolves a reference, such as ../map, against the URI of the page that contains it.',
    {
      base: URI,
      reference: z
        .string()
        .max(4000)
        .meta({ examples: ['../map'] }),
    },
    { uri: z.string() },
    ({ base, reference }) => ({ uri: urlOf(reference, urlOf(base).href).href }),
  ),
  uri_query: pure(
    'Lists the parameters of a URI, decoded.',
    { uri: URI },
    { parameters: z.array(z.object({ name: z.string(), value: z.string() })) },
    ({ uri }) => ({ parameters: [...urlOf(uri).searchParams].map(([name, value]) => ({ name, value })) }),
  ),
  uri_with_query: pure(
    'Sets parameters of a URI; an empty value removes one.',
    { uri: URI, parameters: PARAMETERS },
    { uri: z.string() },
    ({ uri, parameters }) => {
      const url = urlOf(uri)
      for (const [name, value] of Object.entries(parameters)) {
        if (value === '') url.searchParams.delete(name)
        else url.searchParams.set(name, value)
      }
      return { uri: url.href }
    },
  ),
  uri_normalise: pure(
    'Writes a URI in its usual form: scheme and host in lower case, no default port, no dots in the path.',
    { uri: URI },
    { uri: z.string() },
    ({ uri }) => ({ uri: urlOf(uri).href }),
  ),
  uri_same_origin: pure(
    'Says whether two URIs have the same scheme, host and port.',
    { a: URI, b: URI },
    { same: z.boolean() },
    ({ a, b }) => ({ same: urlOf(a).origin !== 'null' && urlOf(a).origin === urlOf(b).origin }),
  ),
  uri_data: pure(
    'Reads a data: URI that contains text.',
    {
      uri: z
        .string()
        .max(80_000)
        .meta({ examples: ['data:text/plain;base64,dGlkZQ=='] }),
    },
    { mediaType: z.string(), text: z.string() },
    ({ uri }) => {
      const [, mediaType = 'text/plain', , base64, body] = DATA.exec(uri) ?? []
      if (body === undefined) throw new ToolError('This is not a data: URI.')
      if (base64 !== undefined) return { mediaType, text: Buffer.from(body, 'base64').toString() }
      if (!/^(?:[^%]|%[0-9a-fA-F]{2})*$/.test(body)) throw new ToolError('A percent sign stands alone.')
      const bytes = body.replaceAll(/%([0-9a-fA-F]{2})/g, (_, hex: string) =>
        String.fromCharCode(Number.parseInt(hex, 16)),
      )
      return { mediaType, text: Buffer.from(bytes, 'latin1').toString() }
    },
  ),
}
