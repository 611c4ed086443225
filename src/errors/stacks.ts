/** Calls `act`; errors that are created meanwhile have no stack, which makes them cheap. For errors that only the other side sees. */
export function withoutStacks<Out>(act: () => Out): Out {
  const limit = Error.stackTraceLimit
  // Where it cannot be set, errors keep their stacks.
  Reflect.set(Error, 'stackTraceLimit', 0)
  try {
    return act()
  } finally {
    Reflect.set(Error, 'stackTraceLimit', limit)
  }
}
