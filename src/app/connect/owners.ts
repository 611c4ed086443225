import type { Client } from '../../client/client.ts'
import { match } from '../../uri-template/match.ts'
import { parseTemplate } from '../../uri-template/parse.ts'

/** A server with more templates, or longer ones, must be named. */
const MAX_TEMPLATES = 1000
const MAX_LENGTH = 2048

/** The servers that list a resource or have a template for it. A server that fails is left out. */
export async function findOwners(
  clients: ReadonlyMap<string, Client>,
  uri: string,
): Promise<readonly string[]> {
  const found = [...clients].map(async ([server, client]) => {
    const has = await hasResource(client, uri).catch(() => false)
    return has ? [server] : []
  })
  return (await Promise.all(found)).flat()
}

async function hasResource(client: Client, uri: string): Promise<boolean> {
  for await (const resource of client.resources()) if (resource.uri === uri) return true
  let seen = 0
  for await (const { uriTemplate } of client.templates()) {
    if (++seen > MAX_TEMPLATES) return false
    if (matches(uriTemplate, uri)) return true
  }
  return false
}

function matches(template: string, uri: string): boolean {
  if (template.length > MAX_LENGTH) return false
  try {
    return match(parseTemplate(template), uri) !== undefined
  } catch {
    // The server wrote something else than a template.
    return false
  }
}
