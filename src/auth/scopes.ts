/** Which scopes a scope includes. */
export type ScopeHierarchy = Readonly<Record<string, readonly string[]>>

/** The scopes of a caller, with all that they include, directly or through others. */
export function expandScopes(scopes: readonly string[], includes: ScopeHierarchy): readonly string[] {
  const all = new Set(scopes)
  // A set visits elements that are added during the loop, and each only once.
  for (const scope of all) if (Object.hasOwn(includes, scope)) includes[scope]?.forEach((one) => all.add(one))
  return [...all]
}
