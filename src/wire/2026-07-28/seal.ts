import type { JsonObject } from '../../protocol/jsonrpc.ts'
import { META } from '../../protocol/meta.ts'

/** The text of a result at this revision: its type, caching hints where the method has them, and the server's name. */
export function sealText(result: JsonObject, infoText: string, cached: boolean): string {
  const meta = result['_meta']
  const serverInfo = `"${META.serverInfo}":${infoText}`
  const metaText = meta === undefined ? `{${serverInfo}}` : withMember(JSON.stringify(meta), serverInfo)
  let head = `"_meta":${metaText}`
  if (result['resultType'] === undefined) {
    head = `"resultType":"complete",${head}`
    if (cached && result['ttlMs'] === undefined) head += ',"ttlMs":0'
    if (cached && result['cacheScope'] === undefined) head += ',"cacheScope":"private"'
  }
  return withMember(JSON.stringify(meta === undefined ? result : { ...result, _meta: undefined }), head)
}

/** Params with what this revision wants to know of their sender in every request. */
export function sealParams(
  params: JsonObject,
  sender: { readonly client: JsonObject; readonly capabilities: JsonObject },
): JsonObject {
  const envelope = {
    [META.protocolVersion]: '2026-07-28',
    [META.clientInfo]: sender.client,
    [META.clientCapabilities]: sender.capabilities,
  }
  return { ...params, _meta: { ...(params['_meta'] as JsonObject | undefined), ...envelope } }
}

/** Puts a member in front of the others of an object's text. */
function withMember(object: string, member: string): string {
  return object === '{}' ? `{${member}}` : `{${member},${object.slice(1)}`
}
