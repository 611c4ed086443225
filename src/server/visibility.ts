import { partsOf, type Context } from './context.ts'
import type { Item } from './definitions.ts'
import type { List } from './lists.ts'
import { checkScopes } from './scopes.ts'

/** An item whose visibility a plug-in decides. */
export interface VisibleItem {
  /** A `template` is a resource whose URI has variables. */
  readonly kind: 'tool' | 'resource' | 'template' | 'prompt'
  /** The name of a tool or prompt; the URI of a resource or template. */
  readonly key: string
}

/** Whether the caller sees an item. A hidden item gets the same answer as one that does not exist. */
export function isVisible(item: Item, context: Context): boolean {
  return (item.isThere === undefined || item.isThere()) && mayKnow(item, context)
}

/** Whether the caller would see an item if it were there. Anything but `true` from `visible` hides it. */
export function mayKnow(item: Item, context: Context): boolean {
  return item.visible === undefined || isShown(item.visible(context), item.visible, item.key, context)
}

/** The functions whose promises were reported. */
const reported = new WeakSet<object>()

/** Whether `visible` showed an item. A promise decides too late, so it hides the item. */
function isShown(shown: unknown, visible: object, key: string, context: Context): boolean {
  if (!(shown instanceof Promise)) return shown === true
  shown.catch(() => undefined)
  if (reported.has(visible)) return false
  reported.add(visible)
  const problem =
    'returned a promise, which hides the item; it is synchronous, so let provide() add what it needs'
  partsOf(context).report('error', `visible of "${key}" ${problem}`)
  return false
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
      mayKnow(item, context) && isShown(isAllowed({ kind, key }, context), isAllowed, key, context)
    return { ...item, visible }
  })
}
