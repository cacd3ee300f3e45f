module github.com/lola-ext/lola/bench

go 1.26.0
