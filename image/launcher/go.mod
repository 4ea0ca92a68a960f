module snapkeep.dev/launcher

go 1.24
