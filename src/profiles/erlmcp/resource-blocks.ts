import { copyOf } from '../../base/copy-of.ts'
import type { JsonObject } from '../../protocol/jsonrpc.ts'
import type { CreateAdapter } from '../adapter.ts'
import { changed, eachOf } from '../shapes.ts'

/** Reads a bare URI in the `resource` of a content block as a link to it. */
export const resourceBlocks: CreateAdapter = (choices) => {
  if (choices.resourceBlocks !== 'uri') return undefined
  return {
    decodeResult(method, result) {
      if (method === 'tools/call') return eachOf(result, 'content', toLink)
      return method === 'prompts/get' ? eachOf(result, 'messages', withLink) : result
    },
  }
}

function withLink(message: JsonObject): JsonObject {
  return changed(message, 'content', toLink)
}

function toLink(block: JsonObject): JsonObject {
  const { type, resource, uri = resource, name = resource } = block
  if (type !== 'resource' || typeof resource !== 'string') return block
  return Object.assign(copyOf(block, 'resource'), { type: 'resource_link', uri, name })
}
