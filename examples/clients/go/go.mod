module politely

go 1.19
