import { isObject, type JsonObject } from '../../protocol/jsonrpc.ts'
import { META } from '../../protocol/meta.ts'
import { resultText, withMembers } from '../result-text.ts'

/** Encodes a result at this revision: with its type, caching hints if the method has them, and the server's name. */
export function encodeText(result: JsonObject, infoText: string, cached: boolean): string {
  const { _meta: meta, resultType } = result
  let front = `"_meta":${metaText(meta, infoText)},`
  if (resultType === undefined) {
    front = `"resultType":"complete",${front}`
    if (cached && result['ttlMs'] === undefined) front += '"ttlMs":0,'
    if (cached && result['cacheScope'] === undefined) front += '"cacheScope":"private",'
  }
  return resultText(meta === undefined ? result : { ...result, _meta: undefined }, front)
}

/** The `_meta` of a result, always with the server's real name; values other than objects are ignored. */
function metaText(meta: unknown, infoText: string): string {
  const serverInfo = `"${META.serverInfo}":${infoText}`
  if (!isObject(meta)) return `{${serverInfo}}`
  return withMembers(`${serverInfo},`, JSON.stringify({ ...meta, [META.serverInfo]: undefined }))
}

/** The members of `_meta` that describe the sender in every request of this revision. */
export function envelopeOf(client: JsonObject, capabilities: JsonObject): JsonObject {
  return {
    [META.protocolVersion]: '2026-07-28',
    [META.clientInfo]: client,
    [META.clientCapabilities]: capabilities,
  }
}
