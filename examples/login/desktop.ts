import { browser, fileVault, keyringVault, type ClientAuth } from 'pierhead/auth/client'

/** What the app can do with its windows. In Electron: `dialog.showMessageBox` and `shell.openExternal`. */
export interface Windows {
  confirm(question: string): Promise<boolean>
  openExternal(url: string): Promise<void>
}

/** Asks the user, then opens the login page in the user's browser. The answer arrives on a port of this computer. */
export function loginFor(windows: Windows): ClientAuth {
  return browser({
    clientName: 'Notes',
    vault: keyringVault({ fallback: fileVault() }),
    async open(page, { server, issuer }) {
      const question = `${server.host} wants you to log in at ${issuer}. Open the page?`
      if (!(await windows.confirm(question))) throw new Error('the user does not want to log in')
      await windows.openExternal(page.href)
    },
  })
}

/** The same for an app that the system opens for URLs such as com.example.notes:/callback. */
export function loginWithLink(
  clientId: string,
  windows: Windows,
  nextLink: (signal: AbortSignal) => Promise<string>,
): ClientAuth {
  return browser({
    clientId,
    redirectUri: 'com.example.notes:/callback',
    vault: keyringVault({ fallback: fileVault() }),
    async open(page, { signal }) {
      await windows.openExternal(page.href)
      return nextLink(signal)
    },
  })
}
