import type { Context } from './context.ts'
import type { Item } from './definitions.ts'

/** Whether the caller sees an item. What is hidden is answered exactly as what does not exist. */
export function isVisible(item: Item, context: Context): boolean {
  return item.visible === undefined || item.visible(context)
}
