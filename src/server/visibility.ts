import type { Context } from './context.ts'
import type { Item } from './definitions.ts'

/** Whether the caller sees an item. Hidden items are answered exactly like ones that do not exist. */
export function isVisible(item: Item, context: Context): boolean {
  return item.visible === undefined || item.visible(context)
}
