/** Browsers show errors in their own way. */
export function showHints(): void {}
