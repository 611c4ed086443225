import type { Context } from './context.ts'
import type { Item } from './definitions.ts'
import type { List } from './lists.ts'

/** What a plug-in that hides items is asked about. */
export interface VisibleItem {
  readonly kind: 'tool' | 'resource' | 'template' | 'prompt'
  /** The name of a tool or prompt; the URI of a resource or template. */
  readonly key: string
}

/** Whether the caller sees an item. A hidden item gets the same answer as one that does not exist. */
export function isVisible(item: Item, context: Context): boolean {
  return item.visible === undefined || item.visible(context)
}

/** Adds a condition to every item of a list, those that exist and those to come. */
export function restrictList<Kind extends Item>(
  list: List<Kind>,
  kind: VisibleItem['kind'],
  isAllowed: (item: VisibleItem, context: Context) => boolean,
): void {
  const { transform } = list
  const restricted = (item: Kind): Kind => {
    const { key, visible } = item
    const shown = (context: Context): boolean =>
      (visible === undefined || visible(context)) && isAllowed({ kind, key }, context)
    return { ...item, visible: shown }
  }
  list.transform = (item) => restricted(transform(item))
  for (const item of list.items.values()) list.items.set(item.key, restricted(item))
}
