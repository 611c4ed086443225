import { mcpError } from '../errors/error.ts'
import { TOOL_ARGUMENTS } from '../errors/server.ts'
import { markReceived } from '../errors/where.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import type { KnownTool } from './known-tools.ts'

/** Rejects invalid arguments for a listed tool. Its schema may be out of date, so the tools are listed again first. */
export async function checkInput(
  tools: ReadonlyMap<string, KnownTool>,
  { name, arguments: input }: { readonly name: string; readonly arguments: JsonObject },
  refresh: () => Promise<void>,
): Promise<void> {
  const check = async (): Promise<string | undefined> => {
    const checked = await tools.get(name)?.input?.(input)
    return checked === undefined || checked.ok ? undefined : checked.issue
  }
  if ((await check()) === undefined) return
  await refresh()
  const issue = await check()
  if (issue !== undefined) throw markReceived(mcpError(TOOL_ARGUMENTS, { name, issue }))
}
