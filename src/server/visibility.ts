import type { Context } from './context.ts'
import type { Item } from './definitions.ts'
import type { List } from './lists.ts'
import { checkScopes } from './scopes.ts'

/** An item whose visibility a plug-in decides. */
export interface VisibleItem {
  readonly kind: 'tool' | 'resource' | 'template' | 'prompt'
  /** The name of a tool or prompt; the URI of a resource or template. */
  readonly key: string
}

/** Whether the caller sees an item. A hidden item gets the same answer as one that does not exist. */
export function isVisible(item: Item, context: Context): boolean {
  if (item.visible === undefined) return true
  const visible: unknown = item.visible(context)
  if (visible instanceof Promise)
    throw new TypeError(
      `visible of "${item.key}" returned a promise; decide with what provide() added to the context`,
    )
  return visible === true
}

/** Whether an item is not for everybody. */
export function isRestricted({ visible, scopes }: Item): boolean {
  return visible !== undefined || scopes !== undefined
}

/**
 * Whether the caller may use an item: `false` if it is hidden. Throws if the caller lacks one of its scopes, because
 * lists show the item, and a caller can get more scopes.
 */
export function mayUse(item: Item, context: Context): boolean {
  if (!isVisible(item, context)) return false
  if (item.scopes !== undefined) checkScopes(item, item.scopes, context)
  return true
}

/** Adds a condition to every item of a list, those that exist and those to come. */
export function restrictList<Kind extends Item>(
  list: List<Kind>,
  kind: VisibleItem['kind'],
  isAllowed: (item: VisibleItem, context: Context) => boolean,
): void {
  list.transformAll((item) => {
    const { key } = item
    const visible = (context: Context): boolean =>
      isVisible(item, context) && isAllowed({ kind, key }, context)
    return { ...item, visible }
  })
}
