/** Log-in hooks, for hosts that mount them on a shared core or call their service. `MessagingModule` mounts them by itself. */

export { LoginHooksModule } from './hooks.module.js';
export type { LoginHookView, LoginHookWithSecret } from './login-hook.api.js';
export type { LoginHookDraft } from './login-hook-input.js';
export { LoginHookService } from './login-hook-service.js';
