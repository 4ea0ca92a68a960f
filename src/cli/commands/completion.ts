/** `snapkeep completion`: what a shell loads to complete commands, flags and the names of objects. */
import { defineCommand } from "../../runtime/command.ts";
import { exitCodes } from "../../runtime/exit-codes.ts";
import { type Shell, shellScripts, shells } from "../completion/scripts.ts";

const isShell = (word: string | undefined): word is Shell => shells.some((shell) => shell === word);

export const command = defineCommand({
  takes: "SHELL",
  flags: {},
  examples: [
    { does: "For this bash", line: "source <(snapkeep completion bash)" },
    { does: "For each bash", line: "snapkeep completion bash > ~/.local/share/bash-completion/completions/snapkeep" },
    { does: "For each zsh, in a folder of $fpath", line: "snapkeep completion zsh > ~/.zfunc/_snapkeep" },
    { does: "For each fish", line: "snapkeep completion fish > ~/.config/fish/completions/snapkeep.fish" },
  ],
  check: (_, words) =>
    words.length === 1 && isShell(words[0])
      ? undefined
      : `name one of the shells ${shells.join(", ")}; for example snapkeep completion bash`,
  run: async ({ positionals: [shell], out }) => {
    if (isShell(shell)) out.write(shellScripts[shell]);
    return exitCodes.good.code;
  },
});
